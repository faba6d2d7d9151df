import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataLog

@Suite("Limits of what change lists and indexes can hold")
struct PlaceLimitTests {
    @Test("A commit that begins at the largest size of a segment is damage, one in front of it is not")
    func placeOfCommit() throws {
        let store = try TestDirectory()
        let header = try SegmentHeader.make(
            storeID: .zero, segmentID: Identifier(high: 1, low: 2), after: .start, timeBefore: Int64.min
        ).header
        let payload = Envelope(events: [Event(.zoneSaved, body: [1])]).encoded()
        for (position, isRead) in [(LogFormat.maximumSegmentBytes - 8, true), (LogFormat.maximumSegmentBytes, false)] {
            let file = try RealFileSystem().open(store.path + "/\(position)", .create)
            var assembler = FrameAssembler()
            _ = assembler.add(
                NewCommit(id: .zero, time: 1, payload: payload[...]), after: .start,
                at: FrameAssembler.Place(salt: header.salt, position: position, durableOffset: 0))
            try file.write(assembler.bytes, at: position)
            var scanner = SegmentScanner(
                header, FileWindow(file, limit: try file.size()), at: position, after: .start, time: Int64.min)
            switch try scanner.next() {
            case .commit: #expect(isRead)
            case .stop(.cannotFollow(let error)): #expect(!isRead && error.code == .impossibleLength)
            default: Issue.record("neither a commit nor damage at \(position)")
            }
        }
    }

    @Test("A touched name takes 4,096 bytes, and not one more", arguments: [4_096, 4_097], [true, false])
    func namesOfTouches(count: Int, isGiven: Bool) throws {
        let store = TinyStore()
        let touches = [Touch(zone: 1, eventIndex: 0, kind: .recordSaved, type: 1, key: 0..<count)]
        let log = try SegmentedLog.open(at: store.path, options: TinyStore.options, platform: store.platform) { _ in
            touches
        }
        let commit = NewCommit(
            id: .zero, time: 1, payload: ArraySlice(repeating: 7, count: 5_000), touches: isGiven ? touches : nil)
        let code = thrownCode { _ = try log.append([commit], expecting: .start) }
        #expect(code == (count > 4_096 ? .outOfRange : nil))
        let found = try log.touches(zone: 1, after: 0, limit: 10).touches
        #expect(found.map(\.key.count) == (count > 4_096 ? [] : [count]))
    }
}
