public import WorkspaceModel

/// Why somebody or something is in its current state.
public struct WhyObject: ControlObject {
    /// One operation, or one piece of evidence.
    public struct Step: Sendable {
        /// `o_…`.
        public let operation: String
        /// Its kind, such as `grant`.
        public let kind: String
        /// Who signed it.
        public let by: PersonObject?
        /// When its author says it was written, ms.
        public let at: Int64
        /// Whether it has effect.
        public let valid: Bool
        /// The step as a sentence.
        public let text: String
    }

    /// `u_…`, `m_…` or `c_…`.
    public let id: String
    /// What it is called.
    public let name: String
    /// The member's role now, `nil` for what has none.
    public let role: String?
    /// The action that was asked about.
    public let can: String?
    /// Yes or no: the member may do it; without an action, the subject is valid.
    public let answer: Bool
    /// In the order of causes.
    public let steps: [Step]

    /// All fields.
    public var json: JSONValue {
        [
            "id": .string(id), "name": .string(name), "role": JSONValue(orNull: role),
            "can": JSONValue(orNull: can), "answer": .bool(answer),
            "steps": .array(
                steps.map { step in
                    [
                        "operation": .string(step.operation), "kind": .string(step.kind),
                        "by": step.by?.json ?? .null, "at": .integer(step.at),
                        "valid": .bool(step.valid), "text": .string(step.text),
                    ]
                }),
        ]
    }
}

/// What `check` found.
public struct CheckObject: ControlObject {
    /// One thing that is not as it should be.
    public struct Problem: Sendable, Equatable {
        /// `operation`, `authority` or `view`.
        public let kind: String
        /// The operation, `o_…`, or the document.
        public let id: String
        /// What is wrong.
        public let text: String
        /// What was done about it: `mended`, `asked` of peers, or `nil`.
        public let done: String?
    }

    /// Problems that are listed; `problem_count` counts all.
    static let problemsMax = 100

    /// How many operations were computed again.
    public var operations: Int64 = 0
    /// How many messages and memberships of the views were compared.
    public var rows: Int64 = 0
    /// How many problems there were.
    public var problemCount: Int64 = 0
    /// The first of them.
    public private(set) var problems: [Problem] = []
    /// Texts that are not here: no fault of this store. Peers are asked for them.
    public var missing: Int64 = 0
    /// How many files were compared with their hashes, as far as they are here.
    public var files: Int64 = 0
    /// How many were put right, or are asked of peers.
    public var repaired: Int64 = 0

    /// Nothing looked at yet.
    public init() {}

    mutating func add(_ kind: String, _ id: String, _ text: String, done: String? = nil) {
        problemCount += 1
        guard problems.count < Self.problemsMax else { return }
        problems.append(Problem(kind: kind, id: id, text: text, done: done))
    }

    /// All fields.
    public var json: JSONValue {
        [
            "ok": .bool(problemCount == 0), "operations": .integer(operations),
            "rows": .integer(rows), "problem_count": .integer(problemCount),
            "problems": .array(
                problems.map {
                    [
                        "kind": .string($0.kind), "id": .string($0.id),
                        "text": .string($0.text), "done": JSONValue(orNull: $0.done),
                    ]
                }),
            "repaired": .integer(repaired), "missing": .integer(missing),
            "files": .integer(files),
        ]
    }
}
