// The test kit.
