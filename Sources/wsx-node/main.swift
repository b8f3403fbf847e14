print("wsx-node")
