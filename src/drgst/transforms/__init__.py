"""Functions from array to array: feature maps, propagation, nearest neighbours."""
