"""Where a policy comes from: a cloud assembly, a template, a document."""
