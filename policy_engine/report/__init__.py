"""Reports: the same result for people, for pull requests and for machines."""
