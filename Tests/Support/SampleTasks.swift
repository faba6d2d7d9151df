import StrataModel

/// Tasks with ten fields, about 350 bytes, under random names of 36 bytes, and the requests that save them.
///
/// ```swift
/// let tasks = SampleTasks()
/// _ = try store.modify(tasks.makingZone, as: SampleTasks.actor)
/// _ = try store.modify(tasks.saving(0..<400), as: SampleTasks.actor)
/// ```
package struct SampleTasks: Sendable {
    package static let type = "Task"
    package static let actor = Actor(user: "anna", device: "phone")
    package static let indexedKeys = ["priority", "estimate", "due"]
    private static let database = DatabaseID(.private)
    private static let zone = ZoneID("Tasks")
    private static let keys = [
        "title", "notes", "status", "assignee", "priority", "position", "estimate", "due", "thumbnail", "place",
    ]
    private static let words = [
        "the", "quick", "brown", "fox", "jumps", "over", "lazy", "dog", "review", "draft", "garden", "invoice",
        "harbor", "call", "before", "meeting", "weekly", "plan", "order", "repair", "ticket", "holiday", "window",
    ]

    private let names: RequestNames

    package init() {
        var names = RequestNames()
        _ = names.ordinal(of: Self.zone)
        _ = names.ordinal(ofType: Self.type)
        for key in Self.keys { _ = names.ordinal(ofKey: key) }
        self.names = names
    }

    package var makingZone: Request {
        var names = RequestNames()
        let zone = names.ordinal(of: Self.zone)
        return Request(database: Self.database, names: names, .modifyZones(ModifyZonesRequest(saves: [.init(zone)])))
    }

    package func saving(_ numbers: Range<Int>) -> Request {
        var body = ModifyRecordsRequest()
        for number in numbers {
            var generator = SeededGenerator(seed: UInt64(number))
            let name = Self.nextName(&generator)
            body.saves.append(.init(RecordKey(zone: 1, name: name), type: 1, fields: Self.nextFields(&generator)))
        }
        return Request(database: Self.database, names: names, .modifyRecords(body))
    }

    private static func nextName(_ generator: inout SeededGenerator) -> String {
        let digits = Array("0123456789ABCDEF")
        return [8, 4, 4, 4, 12].map { count in
            String((0..<count).map { _ in digits[generator.next(below: digits.count)] })
        }.joined(separator: "-")
    }

    private static func nextFields(_ generator: inout SeededGenerator) -> [FieldChange] {
        var values: [FieldValue] = [24, 60, 12, 40].map { .string(nextText($0, &generator)) }
        values += [
            .int64(Int64(generator.next(below: 1_000))), .int64(Int64(bitPattern: generator.next())),
            .double(Double(generator.next(below: 1_000_000)) / 8), .date(Double(generator.next(below: 1 << 30))),
            .data(generator.nextBytes(64)),
            .location(
                .init(
                    latitude: 52 + Double(generator.next(below: 1_000)) / 1_000,
                    longitude: 13 + Double(generator.next(below: 1_000)) / 1_000, horizontalAccuracy: 5)),
        ]
        return values.enumerated().map { FieldChange(UInt32($0.offset + 1), $0.element) }
    }

    private static func nextText(_ count: Int, _ generator: inout SeededGenerator) -> String {
        var text = ""
        while text.utf8.count < count {
            text += words[generator.next(below: words.count)]
            // Numbers, so that texts compress as those of people do.
            text += generator.next(below: 4) == 0 ? " \(generator.next(below: 10_000)) " : " "
        }
        return String(text.prefix(count))
    }
}
