"""The commands, one module each: what they take, and where their reports go. What they do is elsewhere."""
