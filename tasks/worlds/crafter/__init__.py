"""A cooperative Crafter, told in text: agents gather, make tools and mine together what no agent can mine alone."""
