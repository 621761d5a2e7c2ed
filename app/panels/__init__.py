"""The panels, one file each. `app.panels.desk` puts them on the screen."""
