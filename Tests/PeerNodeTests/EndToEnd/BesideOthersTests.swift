import Testing

@Suite(.serialized, .besideOthers) struct `A row beside other tests` {
    struct `with a suite in it` {
        @Test(arguments: 1...3) func `runs each case in the queue of the row`(_ number: Int) {
            #expect(number > 0 && Task.currentPriority == BesideOthers.priority)
        }

        @Test func `comes back to it after each wait`() async {
            for _ in 0..<5 {
                await Task.yield()
                #expect(Task.currentPriority == BesideOthers.priority)
            }
        }
    }
}

struct `A test beside rows` {
    @Test func `is in another queue`() async {
        #expect(Task.currentPriority < BesideOthers.priority)
        await Task.yield()
        #expect(Task.currentPriority < BesideOthers.priority)
    }
}
