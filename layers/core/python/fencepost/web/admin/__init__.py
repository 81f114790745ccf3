"""The admin API, `/v1/admin/…`: settings of the organisation, its sites and its members."""
