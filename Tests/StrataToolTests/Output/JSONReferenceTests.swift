import Foundation
import Testing

@testable import StrataTool

/// docs/reference/json.md says what the shapes say, and the commands print what it says.
@Suite struct JSONReferenceTests {
    private static let path =
        #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4).joined(separator: "/")
        + "/docs/reference/json.md"

    /// `STRATA_UPDATE_GOLDEN=1` writes it.
    @Test func pageIsThatOfTheShapes() throws {
        if Golden.isUpdated { try Data(JSONReference.page.utf8).write(to: URL(fileURLWithPath: Self.path)) }
        #expect(try String(contentsOfFile: Self.path, encoding: .utf8) == JSONReference.page)
    }

    @Test func linksOfThePageLeadSomewhere() {
        let headings = JSONReference.page.split(separator: "\n").filter { $0.hasPrefix("#") }
            .map { JSONReference.anchor(of: String($0.drop { $0 == "#" || $0 == " " })) }
        #expect(Set(headings).count == headings.count, "no two headings have one address")
        for part in JSONReference.page.components(separatedBy: "](#").dropFirst() {
            let anchor = String(part.prefix { $0 != ")" })
            #expect(headings.contains(anchor), "#\(anchor)")
        }
    }

    private static let outputs = ["-json.txt", "export.txt"]

    @Test func goldenOutputsHaveOnlyKnownObjects() throws {
        let folder = URL(fileURLWithPath: Golden.path("")).path
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            .filter { name in Self.outputs.contains { name.hasSuffix($0) } }
        #expect(names.count > 30)
        for name in names {
            let text = try String(contentsOfFile: Golden.path(name), encoding: .utf8)
            for line in text.split(separator: "\n") where line.hasPrefix("{") {
                let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
                try Self.expectKnown(object, "\(name): \(line.prefix(80))")
            }
        }
    }

    /// Values, and objects whose keys are not known in advance, are left out.
    private static let open: Set = ["value", "fields", "notification", "content"]

    private static func expectKnown(_ value: Any, _ place: String) throws {
        if let array = value as? [Any] {
            for element in array { try expectKnown(element, place) }
        } else if let object = value as? [String: Any] {
            #expect(try PromisedKeys.areKnown(object), "\(object.keys.sorted()) of \(place)")
            for (key, part) in object where !(open.contains(key) && part is [String: Any]) {
                if key != "value" { try expectKnown(part, "\(key) of \(place)") }
            }
        }
    }

    @Test func canaryAnUnknownObjectIsNoticed() {
        withKnownIssue { try Self.expectKnown(["events": [["kind": 1, "surprise": 2]]], "a test") }
    }
}
