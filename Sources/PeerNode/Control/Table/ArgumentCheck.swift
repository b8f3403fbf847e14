internal import WorkspaceModel

extension Arguments {
    /// Failing fields that one answer names. More would only make the line long.
    private static let fieldsNamedMax = 16

    /// Checks `given` against every one of `parameters`.
    ///
    /// All failing fields are told at once. A parameter whose name was misspelt is told as the
    /// unknown name and not, a second time, as missing.
    init(
        checking given: JSONObject, against parameters: [ParameterDefinition], of command: String
    ) throws(NodeError) {
        var failing: [(field: NodeError.Field, sentence: String, hint: String?)] = []
        var meant: [String] = []
        for member in given.members where failing.count < Self.fieldsNamedMax {
            // By the bytes, as values are looked up: equal letters in two spellings are two names.
            if parameters.contains(where: { $0.name.utf8.elementsEqual(member.key.utf8) }) {
                continue
            }
            let similar = Similarity.nearest(to: member.key, in: parameters.map(\.name))
            if let similar { meant.append(similar) }
            failing.append(
                (
                    NodeError.Field(
                        name: shortened(member.key), reason: ParameterMismatch.unknown.rawValue),
                    "unknown parameter \(NodeError.quoted(member.key))",
                    similar.map { "did you mean '\($0)'?" }
                ))
        }
        // By their places: most of them are looked at and never copied.
        for place in parameters.indices {
            guard let mismatch = Self.mismatch(of: parameters[place], in: given),
                mismatch != .missing || !meant.contains(parameters[place].name)
            else { continue }
            let parameter = parameters[place]
            failing.append(
                (
                    NodeError.Field(name: parameter.name, reason: mismatch.rawValue),
                    sentence(about: parameter, mismatch),
                    mismatch == .missing ? nil : parameter.mismatchHint
                ))
        }
        if let first = failing.first {
            if failing.count == 1, let long = Self.tooLarge(first.field, parameters, given) {
                throw long
            }
            let isUnknown = first.field.reason == ParameterMismatch.unknown.rawValue
            throw NodeError(
                .badRequest, first.sentence,
                hint: first.hint ?? "see 'wsx-node rpc --describe \(command)'",
                reason: isUnknown ? "unknown_parameter" : "control.bad_param",
                fields: failing.map(\.field))
        }
        let checked = JSONObject(uniqueMembers: given.members.filter { !$0.value.isNull })
        self.init(
            checked: checked, named: NamedThing.all(in: checked, of: parameters))
    }

    /// The failure where nothing but the text of a message is wrong, and that is its length.
    private static func tooLarge(
        _ field: NodeError.Field, _ parameters: [ParameterDefinition], _ given: JSONObject
    ) -> NodeError? {
        guard field.reason == ParameterMismatch.tooLong.rawValue,
            let text = given[field.name]?.stringValue,
            let parameter = parameters.first(where: { $0.name == field.name }),
            parameter.isMessageText, case .text(let bytes) = parameter.shape
        else { return nil }
        return .textTooLarge(field.name, bytes: text.utf8.count, bytesMax: bytes.upperBound)
    }

    private static func mismatch(of parameter: ParameterDefinition, in given: JSONObject)
        -> ParameterMismatch?
    {
        guard let value = given[parameter.name], !value.isNull else {
            return parameter.isRequired ? .missing : nil
        }
        return parameter.shape.mismatch(value)
    }
}

private func sentence(about parameter: ParameterDefinition, _ mismatch: ParameterMismatch) -> String
{
    mismatch == .missing
        ? "'\(parameter.name)' is missing" : "'\(parameter.name)' must be \(parameter.shape.words)"
}

/// A field's name as it is reported: whole unless it is absurdly long.
private func shortened(_ name: String) -> String {
    name.utf8.count <= 64 ? name : String(String.UnicodeScalarView(name.unicodeScalars.prefix(64)))
}

/// Finds the name that somebody probably meant.
public enum Similarity {
    /// Names longer than this are nobody's typing error.
    private static let lengthMax = 40

    /// The name in `names` that is at most a third of its letters away from `name`, or else the
    /// only one that it is the first words of.
    public static func nearest(to name: String, in names: [String]) -> String? {
        guard name.utf8.count <= lengthMax else { return nil }
        let wanted = Array(name.utf8)
        var best: (name: String, distance: Int)?
        for candidate in names {
            let distance = distance(wanted, Array(candidate.utf8))
            let allowed = max(1, min(3, candidate.utf8.count / 3))
            if distance <= allowed, distance < best?.distance ?? .max {
                best = (candidate, distance)
            }
        }
        return best?.name ?? longer(than: name, in: names)
    }

    private static func longer(than name: String, in names: [String]) -> String? {
        let begin = name.lowercased() + " "
        let longer = names.filter { $0.lowercased().hasPrefix(begin) }
        return longer.count == 1 ? longer[0] : nil
    }

    /// Insertions, removals, replacements and swaps of neighbours that turn `left` into `right`.
    static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for row in 0..<left.count {
            var current = [row + 1]
            for column in 0..<right.count {
                var cost = min(last[column + 1], current[column]) + 1
                cost = min(cost, last[column] + (left[row] == right[column] ? 0 : 1))
                if row > 0, column > 0, left[row] == right[column - 1],
                    left[row - 1] == right[column]
                {
                    cost = min(cost, beforeLast[column - 1] + 1)
                }
                current.append(cost)
            }
            beforeLast = last
            last = current
        }
        return last[right.count]
    }
}
