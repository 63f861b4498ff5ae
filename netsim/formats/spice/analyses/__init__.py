"""What a circuit asks for: analyses, what is measured and what is shown."""
