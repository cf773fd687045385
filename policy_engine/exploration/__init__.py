"""Every schedule that the documentation allows, over the same clock and the same pass as a simulation."""
