"""What a run begins with: the arrays of its steps, where it goes, its consistent points, room for its samples."""
