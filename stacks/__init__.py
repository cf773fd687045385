"""Stacks to deploy, made of constructs alone."""
