import TestSupport

/// What a client asks next, and what it has learned from the answers.
struct ClientWork {
    enum Outcome {
        case acknowledged, other, wrong
    }

    /// What the client knows of a record.
    private enum Known {
        case nothing
        case absent
        case version(UInt64, count: Int64)
    }

    private enum Kind {
        case note, counter, feed
    }

    private struct Slot {
        let kind: Kind
        let zone: String
        var name: String
        var known = Known.absent
        var isBusy = false
        var restsUntil: ContinuousClock.Instant
        /// The token of a feed, and the state that it stands for.
        var token = "-"
        var tokenState = "0"
    }

    var generator: SeededGenerator
    private let index: Int
    private let hasPhotos: Bool
    private var slots: [Slot]
    private var waiting: [Int: Int] = [:]
    private var nextNumber: Int

    var waitingCount: Int { waiting.count }

    private static let counterSlots = 4
    private static let rest = Duration.milliseconds(100)
    private static let feedRest = Duration.milliseconds(300)
    private static let counterRest = Duration.milliseconds(5)

    init(_ index: Int, slots count: Int, seed: UInt64, hasPhotos: Bool) {
        generator = SeededGenerator(seed: seed &* 31 &+ UInt64(index))
        (self.index, self.hasPhotos, nextNumber) = (index, hasPhotos, index + Campaign.clientCount)
        let now = ContinuousClock.now
        slots = (0..<count).map { Slot(kind: .note, zone: "c\(index)", name: "r\($0)", restsUntil: now) }
        for _ in 0..<Self.counterSlots {
            slots.append(Slot(kind: .counter, zone: Campaign.sharedZone, name: "n0", known: .nothing, restsUntil: now))
        }
        slots.append(Slot(kind: .feed, zone: "c\(index)", name: "-", restsUntil: now))
    }

    // MARK: Asking

    /// Returns the operations for each process: an operation for each slot that has none on its way and does not rest.
    mutating func nextOperations(
        home: Int, _ processCount: Int, at now: ContinuousClock.Instant
    ) -> [[StoreProcess.Operation]] {
        var lists = [[StoreProcess.Operation]](repeating: [], count: processCount)
        for slot in slots.indices where !slots[slot].isBusy && slots[slot].restsUntil <= now {
            let text = text(for: slot)
            let isRead = ["read", "fetch", "feed"].contains { text.hasPrefix($0) }
            let process = isRead ? generator.next(below: processCount) : home
            lists[process].append(.init(number: nextNumber, text: text))
            waiting[nextNumber] = slot
            slots[slot].isBusy = true
            nextNumber += Campaign.clientCount
        }
        return lists
    }

    private mutating func text(for index: Int) -> String {
        let slot = slots[index]
        let place = "\(slot.zone) \(slot.name)"
        switch (slot.kind, slot.known) {
        case (.feed, _): return "feed \(slot.zone) \(slot.tokenState) \(slot.token)"
        case (.note, .nothing): return "fetch \(place)"
        case (.note, .absent): return "save \(place) -"
        case (.note, .version(let version, _)):
            switch generator.next(below: 100) {
            case 0..<2: return hasPhotos ? "photo \(place) \(version)" : "save \(place) \(version)"
            case 2..<4: return "delete \(place) \(version)"
            case 4..<6: return "read \(place)"
            case 6: return "fetch \(place)"
            default: return "save \(place) \(version)"
            }
        case (.counter, .nothing):
            slots[index].name = "n\(generator.next(below: Client.counterCount))"
            return "read \(slot.zone) \(slots[index].name)"
        case (.counter, .absent): return "count \(place) - 1"
        case (.counter, .version(let version, let count)): return "count \(place) \(version) \(count + 1)"
        }
    }

    /// Takes back operations that could not be sent.
    mutating func takeBack(_ operations: [StoreProcess.Operation], until time: ContinuousClock.Instant) {
        for operation in operations {
            guard let slot = waiting.removeValue(forKey: operation.number) else { continue }
            (slots[slot].isBusy, slots[slot].restsUntil) = (false, time)
        }
    }

    // MARK: Answers

    mutating func take(_ number: Int, _ text: String) -> Outcome {
        guard let slot = waiting.removeValue(forKey: number) else { return .wrong }
        slots[slot].isBusy = false
        let words = text.split(separator: " ")
        switch words.first {
        case "ok" where words.count == 3:
            let version = UInt64(words[2]) ?? 0
            slots[slot].known =
                slots[slot].kind == .counter ? .nothing : version == 0 ? .absent : .version(version, count: 0)
            if slots[slot].kind == .counter { slots[slot].restsUntil = .now + Self.counterRest }
            return .acknowledged
        case "none":
            slots[slot].known = .absent
            return .other
        case "refused":
            slots[slot].known = .nothing
            return .other
        case "unwritten":
            slots[slot].restsUntil = .now + Self.rest
            return .other
        case "unknown":
            if slots[slot].kind == .note { slots[slot].known = .nothing }
            if slots[slot].kind == .counter { slots[slot].known = .nothing }
            return .other
        case "is" where words.count == 6:
            note(slot, words)
            return .other
        case "changes" where words.count == 5:
            (slots[slot].tokenState, slots[slot].token) = (String(words[1]), String(words[4]))
            slots[slot].restsUntil = .now + Self.feedRest
            return .other
        default:
            slots[slot].known = .nothing
            slots[slot].restsUntil = .now + Self.rest
            return .wrong
        }
    }

    /// Notes what was read, if the client did not know it: a local read of another process may lag.
    private mutating func note(_ slot: Int, _ words: [Substring]) {
        guard case .nothing = slots[slot].known, let version = UInt64(words[2]) else { return }
        slots[slot].known = version == 0 ? .absent : .version(version, count: Int64(words[5]) ?? 0)
    }
}
