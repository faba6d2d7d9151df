import Foundation
import StrataPorting
import Testing

@Suite("What client code needs of Apple's other modules", .timeLimit(.minutes(1)))
struct PortingTests {
    private final class Notes: ObservableObject {
        @Published var titles: [String] = []
        @Published var count = 1
    }

    @Test("a published property announces its change before, and publishes its values")
    func published() {
        let notes = Notes()
        var seen: [String] = []
        let changes = notes.objectWillChange.sink { seen.append("change of \(notes.count)") }
        var kept: Set<AnyCancellable> = []
        notes.$count.sink { seen.append("\($0) beside \(notes.count)") }.store(in: &kept)
        notes.count = 2
        #expect(seen == ["1 beside 1", "change of 1", "2 beside 1"])
        changes.cancel()
        changes.cancel()
        kept = []
        notes.count = 3
        #expect(seen.count == 3 && notes.count == 3)
    }

    @Test("a property can be changed in place, and its values are a sequence")
    func values() async {
        let notes = Notes()
        var values = notes.$titles.values.makeAsyncIterator()
        notes.titles.append("a")
        notes.titles.append("b")
        #expect(await values.next() == [])
        #expect(await values.next() == ["a"])
        #expect(await values.next() == ["a", "b"])
    }

    @Test("each object has a publisher of its own, and those of released objects are forgotten")
    func publishers() {
        let (one, other) = (Notes(), Notes())
        #expect(one.objectWillChange === one.objectWillChange && one.objectWillChange !== other.objectWillChange)
        var released: [WeakPublisher] = []
        for _ in 0..<10_000 { released.append(WeakPublisher(Notes().objectWillChange)) }
        #expect(released.count { $0.publisher != nil } < 200)
    }

    private struct WeakPublisher {
        weak var publisher: ObservableObjectPublisher?
        init(_ publisher: ObservableObjectPublisher) { self.publisher = publisher }
    }

    private final class Sender: Sendable {}

    @Test("notifications are a sequence that misses none and ends with its iterator")
    func notifications() async {
        let center = NotificationCenter()
        let name = Notification.Name("changed")
        let object = Sender()
        let sequence = center.notifications(named: name, object: object)
        center.post(name: name, object: object, userInfo: ["number": 0])
        do {
            var iterator = sequence.makeAsyncIterator()
            for number in 1...3 {
                center.post(name: name, object: Sender(), userInfo: ["number": 0])
                center.post(name: name, object: object, userInfo: ["number": number])
            }
            for number in 1...3 { #expect(await iterator.next()?.userInfo?["number"] as? Int == number) }
        }
        let task = Task { for await _ in center.notifications(named: name) {} }
        task.cancel()
        await task.value
    }

    @Test("arrays and dictionaries of one class are decoded, and those of others are not")
    func archives() throws {
        let words: [NSString] = ["a", "b"]
        let data = try NSKeyedArchiver.archivedData(withRootObject: words as NSArray, requiringSecureCoding: true)
        #expect(try NSKeyedUnarchiver.unarchivedArrayOfObjects(ofClass: NSString.self, from: data) == words)
        #expect(throws: (any Error).self) {
            try NSKeyedUnarchiver.unarchivedArrayOfObjects(ofClass: NSDate.self, from: data)
        }
        let pairs = NSDictionary(dictionary: [NSString("a"): NSString("b")])
        let other = try NSKeyedArchiver.archivedData(withRootObject: pairs, requiringSecureCoding: true)
        let decoded = try NSKeyedUnarchiver.unarchivedDictionary(
            ofKeyClass: NSString.self, objectClass: NSString.self, from: other)
        #expect(decoded == ["a": "b"])
    }

    @Test("texts are looked up with their places, and written with their values")
    func localized() throws {
        #expect(String(localized: "100 % sure") == "100 % sure")
        #expect(String(localized: "\(3) of \(UInt8(4)) at 100 % for \("Anna")") == "3 of 4 at 100 % for Anna")
        #expect(String(localized: String.LocalizationValue("plain")) == "plain")
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString + ".bundle")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data("\"%lld notes of %@\" = \"%2$@ hat %1$lld Notizen\";\n".utf8)
            .write(to: folder.appendingPathComponent("Words.strings"), options: .atomicWrite)
        let bundle = try #require(Bundle(path: folder.path))
        #expect(String(localized: "\(2) notes of \("Anna")", table: "Words", bundle: bundle) == "Anna hat 2 Notizen")
    }

    @Test("settings have values, times have units, and pools return what their closure returns")
    func rest() throws {
        let name = "strata-porting-\(UUID().uuidString)"
        let settings = try #require(UserDefaults(suiteName: name))
        defer { settings.removePersistentDomain(forName: name) }
        settings.setValue("b", forKey: "a")
        #expect(settings.value(forKey: "a") as? String == "b" && settings.value(forKey: "b") == nil)
        #expect(NSEC_PER_SEC == 1_000 * NSEC_PER_MSEC && NSEC_PER_MSEC == 1_000 * NSEC_PER_USEC)
        #expect(NSEC_PER_SEC == NSEC_PER_USEC * USEC_PER_SEC && MSEC_PER_SEC * NSEC_PER_MSEC == NSEC_PER_SEC)
        #expect(autoreleasepool { 1 } == 1)
        #expect(throws: CancellationError.self) { try autoreleasepool { throw CancellationError() } }
    }
}
