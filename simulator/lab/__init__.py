"""What the lab does, owns, decides and pays. SimPy lives here and nowhere else."""
