"""What is known of names, types and objects: a script's, a routine's, the built-in relations."""
