import Foundation
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `The manual page` {
    private var page: String { Manual.page }
    private var lines: [String] { page.components(separatedBy: "\n") }

    @Test func `has the sections that people look for, in their order`() {
        let sections = lines.filter { $0.hasPrefix(".SH ") }.map { String($0.dropFirst(4)) }
        #expect(
            sections == [
                "NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "OPTIONS", "EXIT STATUS",
                "ENVIRONMENT", "FILES", "EXAMPLES",
            ])
        #expect(lines[0].hasPrefix(".TH WSX\\-NODE 1 "))
        #expect(page.hasSuffix("\n") && !page.contains("\n\n"))
    }

    @Test func `is ASCII, and starts no line with a command by accident`() {
        #expect(page.utf8.allSatisfy { $0 == 0x0A || (0x20...0x7E).contains($0) })
        let known = [".TH ", ".SH ", ".SS ", ".TP", ".RS", ".RE", ".PP", ".nf", ".fi", ".B "]
        for line in lines where line.hasPrefix(".") || line.hasPrefix("'") {
            #expect(known.contains { line.hasPrefix($0) }, "\(line)")
        }
    }

    @Test(arguments: [
        ("a-b", "a\\-b"), ("a\\b", "a\\eb"), ("it's", "it\\(aqs"), (".x", "\\&.x"),
        ("`c_…`", "\\(gac_...\\(ga"), ("~/x", "\\(ti/x"), ("a\nb", "a b"), ("", ""),
        ("\u{1F600}", "(grinning face)"), ("é", "\\[u00E9]"),
    ])
    func `writes text so that roff shows just that`(_ row: (text: String, roff: String)) {
        #expect(Manual.roff(row.text) == row.roff)
    }

    @Test func `explains each parameter, each flag and each exit status`() {
        for command in Command.all where command.line != nil {
            for parameter in command.parameters
            where !parameter.isGlobal && !parameter.isForPrograms {
                #expect(page.contains(Manual.roff(parameter.summary)), "\(command.name)")
            }
        }
        for flag in Manual.globalFlags { #expect(page.contains(Manual.roff(flag.form))) }
        for kind in NodeError.Kind.allCases {
            let status = "\(kind.exitStatus)"
            #expect(Manual.exitStatuses.contains { $0.name == status }, "\(kind.rawValue)")
        }
    }

    /// The one table, seen from every side.
    @Test func `lists the commands that help, completion, rpc.discover and OPERATIONS.md list`() {
        let usages = Command.all.filter { $0.line != nil }.map(\.usage)
        let marked = lines.filter { $0.hasPrefix("\\fB") && $0.hasSuffix("\\fR") }
        for usage in usages {
            #expect(marked.contains("\\fB\(Manual.roff(usage))\\fR"), "\(usage)")
        }
        for command in Command.all {
            guard let words = command.line?.words.joined(separator: " ") else { continue }
            #expect(Manual.fullHelp.contains("\n  \(words)"), "\(words)")
        }
        let methods = Manual.openRPC["methods"]?.arrayValue ?? []
        #expect(methods.compactMap { $0["name"]?.stringValue } == Command.methods.map(\.name))
        for (method, command) in zip(methods, Command.methods) {
            #expect(method["x-cli"]?.stringValue == command.line.map { _ in command.usage })
        }
        let headings = Manual.operations.components(separatedBy: "\n")
            .filter { $0.hasPrefix("### `") }
        #expect(headings == Command.all.map { "### `\($0.name)`" })
    }

    @Test(arguments: [
        ["-man", "-ww", "-z"], ["-man", "-ww", "-Tascii"], ["-man", "-ww", "-Tutf8"],
    ])
    func `is taken by groff without a warning`(_ flags: [String]) throws {
        guard let groff = Tool.path("groff", to: "read the manual page") else { return }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: groff)
        let file = FileManager.default.temporaryDirectory
            .appendingPathComponent("wsx-node-\(UUID().uuidString).1")
        try page.write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        process.arguments = flags + [file.path]
        let outcome = TemporaryNode.finish(process)
        #expect(outcome.status == 0)
        #expect(outcome.errors.isEmpty, "\(outcome.errors)")
        if flags.contains("-Tutf8") { #expect(outcome.output.contains("events")) }
    }

    @Test func `is taken by mandoc without a word`() throws {
        guard let mandoc = Tool.path("mandoc", to: "read the manual page") else { return }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: mandoc)
        process.arguments = ["-T", "lint", "-W", "warning"]
        let outcome = TemporaryNode.finish(process, input: page)
        #expect(outcome.status == 0 && outcome.output.isEmpty, "\(outcome.output)")
    }
}
