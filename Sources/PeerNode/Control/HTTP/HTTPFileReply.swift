import WorkspaceModel

/// The HTTP form of files. A browser never displays them, but only saves them: their bytes are
/// untrusted.
enum HTTPFileReply {
    /// The head before the bytes of a file, or for `HEAD` alone.
    ///
    /// - Parameters:
    ///   - file: what `blob.read` or `blob.stat` answers.
    ///   - isPart: whether a range was asked for.
    static func head(of file: JSONValue, isPart: Bool) -> HTTPResponse {
        let size = file["size"]?.integerValue ?? 0
        let offset = file["offset"]?.integerValue ?? 0
        let count = file["bytes"]?.integerValue ?? size
        var response = HTTPResponse(status: isPart ? 206 : 200)
        response.contentType = mediaType(file["type"]?.stringValue ?? "")
        response.fileByteCount = count
        let id = file["id"]?.stringValue ?? ""
        response.fields = [
            .init(name: "ETag", value: HTTPEntityTag(id: id).text),
            .init(name: "Accept-Ranges", value: "bytes"),
        ]
        if isPart {
            let last = offset &+ count &- 1
            response.fields.append(
                .init(name: "Content-Range", value: "bytes \(offset)-\(last)/\(size)"))
        }
        let name = file["name"]?.stringValue ?? id
        response.fields += [
            .init(name: "Content-Disposition", value: disposition(name)),
            .init(name: "X-Content-Type-Options", value: "nosniff"),
        ]
        return response
    }

    /// The reply that a file is unchanged and need not be sent again.
    static func unchanged(_ file: JSONValue) -> HTTPResponse {
        var response = HTTPResponse(status: 304)
        let id = file["id"]?.stringValue ?? ""
        response.fields = [.init(name: "ETag", value: HTTPEntityTag(id: id).text)]
        return response
    }

    /// Why there are no bytes.
    static func failure(_ error: NodeError) -> HTTPResponse {
        guard error.reason == ReadRequest.badRange else { return .failure(error) }
        var response = HTTPResponse.json(416, ["error": error.json])
        let size = error.details["size"]?.integerValue ?? 0
        response.fields = [
            .init(name: "Content-Range", value: "bytes */\(size)"),
            .init(name: "Accept-Ranges", value: "bytes"),
        ]
        return response
    }

    /// The uploaded file, as a message can name it.
    static func made(_ file: JSONValue) -> HTTPResponse {
        var response = HTTPResponse.json(201, file)
        let id = file["id"]?.stringValue ?? ""
        response.fields = [.init(name: "Location", value: "/files/\(id)")]
        return response
    }

    // MARK: Fields

    /// The type that a sender claims, where nothing runs scripts because of it.
    private static func mediaType(_ claimed: String) -> String {
        let isHarmless =
            ["image/png", "image/jpeg", "image/gif", "image/webp"].contains(claimed)
            || claimed.utf8.starts(with: "audio/".utf8)
            || claimed.utf8.starts(with: "video/".utf8)
        let isPlain = claimed.utf8.allSatisfy {
            HTTPText.isAlphanumeric($0) || "/.+-".utf8.contains($0)
        }
        return isHarmless && isPlain ? claimed : "application/octet-stream"
    }

    /// A name twice (RFC 6266): for old readers in ASCII, and whole by RFC 8187.
    static func disposition(_ name: String) -> String {
        let special = "\"\\%/".unicodeScalars
        let plain = name.unicodeScalars.map { scalar in
            let isPlain = (0x20..<0x7F).contains(scalar.value) && !special.contains(scalar)
            return isPlain ? String(scalar) : "_"
        }.joined()
        var whole = ""
        for byte in name.utf8 {
            if HTTPText.isAlphanumeric(byte) || "!#$&+-.^_`|~".utf8.contains(byte) {
                whole.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                whole += (byte < 16 ? "%0" : "%") + digits
            }
        }
        return "attachment; filename=\"\(plain)\"; filename*=UTF-8''\(whole)"
    }
}
