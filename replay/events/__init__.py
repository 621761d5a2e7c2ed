"""What happens inside one launch: the state after an event, the first value that is not finite, the cost.

`streams` cuts operation streams, `replayer` runs them beside a live player, the others ask questions of it.
"""
