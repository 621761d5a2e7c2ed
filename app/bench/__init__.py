"""What `ripplescope bench` measures: parts, each with a reference that was timed in the same run."""
