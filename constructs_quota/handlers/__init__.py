"""Lambda functions. Each file is one, whole: it runs where nothing of this project is installed."""
