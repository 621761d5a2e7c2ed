"""What a basin is furnished with: shapes for its maps, and scenes that a file describes."""
