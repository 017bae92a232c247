"""The built-in functions: what each becomes."""
