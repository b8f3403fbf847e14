Benchmarks.main()
