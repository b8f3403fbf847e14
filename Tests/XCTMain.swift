// Where the program of all tests begins. Without this file the build looks for XCTest cases in an index
// of all sources, of which there are none, and making the index is a sixth of a clean build. With it
// `swift test` has to be told that the tests are Swift Testing's (scripts/test).

internal import Testing

@main private enum AllTests {
    static func main() async {
        // It is started once for each library of tests.
        guard CommandLine.arguments.contains("swift-testing") else { return }
        await Testing.__swiftPMEntryPoint() as Never
    }
}
