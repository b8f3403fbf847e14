import Testing
import WorkspaceModel

struct `A place that a message points to` {
    @Test(
        arguments: [
            ("52.5200066,13.404954", 525_200_066, 134_049_540), ("0,0", 0, 0),
            ("-33.8688, 151.2093", -338_688_000, 1_512_093_000),
            ("90,-180", 900_000_000, -1_800_000_000),
            ("-0.0000001,0.5", -1, 5_000_000), ("-0,-0", 0, 0), ("7.0,007", 70_000_000, 70_000_000),
        ] as [(String, Int64, Int64)])
    func `is read from degrees, exactly`(_ text: String, _ north: Int64, _ east: Int64) throws {
        let place = try #require(MessageLocation(degrees: text))
        #expect(place.latitude == north && place.longitude == east)
        let again = MessageLocation.degrees(place.latitude)
        #expect(MessageLocation.units(again) == north, "\(again)")
    }

    @Test(arguments: [
        "", ",", "1", "1,2,3", "90.0000001,0", "0,180.0000001", "1e1,0", "+1,0", "1.,0", ".5,0",
        "1.12345678,0", "1234,0", "--1,0", "a,b", "1;2", "٣,٤", "NaN,0", "0x1,0", "1,\u{0}", "-,-",
    ])
    func `is nothing else`(_ text: String) {
        #expect(MessageLocation(degrees: text) == nil)
    }

    @Test func `is written without zeros at the end`() {
        let table: [(Int64, String)] = [
            (0, "0"), (1, "0.0000001"), (-1, "-0.0000001"), (10_000_000, "1"),
            (-905_000_000, "-90.5"), (1_800_000_000, "180"), (134_049_540, "13.404954"),
        ]
        for (units, text) in table { #expect(MessageLocation.degrees(units) == text) }
    }

    @Test func `has a label and an error within bounds`() {
        func place(_ accuracy: UInt64?, _ label: String?) -> MessageLocation? {
            MessageLocation(latitude: 0, longitude: 0, accuracy: accuracy, label: label)
        }
        #expect(place(nil, nil) != nil)
        #expect(place(Limits.locationAccuracyMax, "here") != nil)
        #expect(place(Limits.locationAccuracyMax + 1, nil) == nil)
        #expect(place(nil, "") == nil)
        #expect(place(nil, "a\u{0}") == nil)
        #expect(place(nil, String(repeating: "x", count: Limits.nameBytesMax)) != nil)
        #expect(place(nil, String(repeating: "x", count: Limits.nameBytesMax + 1)) == nil)
    }
}
