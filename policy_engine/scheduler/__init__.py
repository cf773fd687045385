"""The documented rules: the state of a queue, one pass over it, victims, and the choices AWS leaves open."""
