"""What scripts/run_tests is made of: cases.py runs, kept.py remembers, price.py counts."""
