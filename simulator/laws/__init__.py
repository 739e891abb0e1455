"""Laws: what is true without clock, dice or lab. Pure functions of numbers and arrays, each with its source."""
