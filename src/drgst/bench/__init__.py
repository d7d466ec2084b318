"""How good it is: metrics, protocol, paired comparison, run store."""
