"""The windows behind app.window: one module a toolkit. Use `app.window.open_window`."""
