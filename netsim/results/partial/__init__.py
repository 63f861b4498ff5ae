"""What a long run leaves on the disk while it goes on: rows of samples, and its state."""
