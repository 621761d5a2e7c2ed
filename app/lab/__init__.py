"""The graph lab: what is selected in a capture, what is looked into, measured, edited. No ImGui here."""
