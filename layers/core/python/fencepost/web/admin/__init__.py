"""The admin API: organisations, sites and members."""
