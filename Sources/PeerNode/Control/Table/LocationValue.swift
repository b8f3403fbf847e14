internal import WorkspaceModel

/// How a call writes a place on Earth.
extension MessageLocation {
    /// Reads `"52.52,13.405"`, or `{lat, lon, accuracy?, label?}`. `nil` for anything else.
    init?(_ value: JSONValue) {
        if let text = value.stringValue {
            self.init(degrees: text)
            return
        }
        let known: Set<String> = ["lat", "lon", "accuracy", "label"]
        guard let object = value.objectValue,
            object.members.allSatisfy({ known.contains($0.key) }),
            let latitude = object["lat"]?.integer(timesTenTo: MessageLocation.decimals),
            let longitude = object["lon"]?.integer(timesTenTo: MessageLocation.decimals)
        else { return nil }
        var (accuracy, label): (UInt64?, String?) = (nil, nil)
        if let given = object["accuracy"], !given.isNull {
            guard let number = given.integerValue.flatMap(UInt64.init(exactly:)) else {
                return nil
            }
            accuracy = number
        }
        if let given = object["label"], !given.isNull {
            guard let text = given.stringValue else { return nil }
            label = text
        }
        self.init(latitude: latitude, longitude: longitude, accuracy: accuracy, label: label)
    }

    /// The JSON schema for `rpc.discover`.
    static var schema: JSONValue {
        [
            "oneOf": [
                ["type": "string", "pattern": "^-?[0-9]{1,3}([.][0-9]{1,7})?,"],
                [
                    "type": "object", "required": ["lat", "lon"],
                    "properties": [
                        "lat": ["type": "number", "minimum": -90, "maximum": 90],
                        "lon": ["type": "number", "minimum": -180, "maximum": 180],
                        "accuracy": ["type": "integer", "minimum": 0],
                        "label": ["type": "string"],
                    ],
                ],
            ]
        ]
    }
}

extension Parameter where Value == MessageLocation {
    /// A place on the earth.
    static func location(_ name: String, _ summary: String) -> Self {
        Self(name, summary, .location) { MessageLocation($0) }
    }
}
