import Foundation

/// Known violations in the node's folders, which may only shrink: `Tests/Vectors/arrows.txt`.
struct HouseRatchet: Equatable {
    static let path = "Tests/Vectors/arrows.txt"

    /// Figures by their names, such as `fields NodeCore`.
    private(set) var figures: [String: Int] = [:]

    /// Lines are counted in hundreds, begun ones included: not every fix is to change the file.
    private static let linesStep = 100
    /// No type is to be larger; those that are have a figure.
    private static let linesWithoutNotice = 2_000

    /// As the node is now.
    init(of rooms: HouseRooms) throws {
        for type in ["NodeCore", "Workspace"] {
            figures["fields \(type)"] = rooms.kinds[type]?.storedFieldCount ?? 0
        }
        let step = Self.linesStep
        for (type, kind) in rooms.kinds where kind.lineCount > Self.linesWithoutNotice {
            figures["lines \(type)"] = (kind.lineCount + step - 1) / step * step
        }
        figures["circle NodeCore"] = try rooms.largestCircle(of: "NodeCore")
    }

    /// - Throws: for a line that does not belong in the file.
    init(parsing text: String) throws {
        for line in text.components(separatedBy: "\n") where !line.isEmpty && !line.hasPrefix("#") {
            let words = line.components(separatedBy: " ")
            guard words.count == 3, let figure = Int(words[2]) else {
                throw Misread(line: line)
            }
            figures["\(words[0]) \(words[1])"] = figure
        }
    }

    /// What has become more, and what is less than this says; in words, nothing where all is well.
    func problems(with now: HouseRatchet) -> [String] {
        var problems: [String] = []
        for name in Set(figures.keys).union(now.figures.keys).sorted() {
            let (listed, counted) = (figures[name] ?? 0, now.figures[name] ?? 0)
            if counted > listed {
                problems.append("\(name) is \(counted), and may be \(listed)")
            } else if counted < listed {
                problems.append("\(name) is \(counted): write that into \(Self.path)")
            }
        }
        return problems
    }

    /// With what is less now, and with nothing that is more.
    func tightened(to now: HouseRatchet) -> HouseRatchet {
        var tightened = self
        for (name, listed) in figures {
            tightened.figures[name] = min(listed, now.figures[name] ?? 0)
        }
        return tightened
    }

    /// As it stands in the file.
    var text: String {
        let head = """
            # What may only become less; ArrowTests compares it with the sources of PeerNode.
            # fields: stored properties.
            # lines: of all extensions, in begun hundreds. circle: files that all reach each other by calls.
            """
        let numbers = figures.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        return ([head] + numbers).joined(separator: "\n") + "\n"
    }

    struct Misread: Error {
        let line: String
    }
}
