"""Code: programs that a policy writes, mends or reads, judged by what they answer in a sandbox."""
