"""Arrays of a capture as pictures: which one, in which way, what of it, and what is written beside it."""
