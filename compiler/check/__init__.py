"""What is unknown, wrong, or parsed but refused: problems with their places."""
