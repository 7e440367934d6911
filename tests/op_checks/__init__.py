"""What the generated tests are made of."""
