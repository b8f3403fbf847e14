// The first file of this layer.
