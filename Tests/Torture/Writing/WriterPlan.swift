import StrataModel
import TestSupport

/// The requests of one writer, and the state that they lead to: the same for the same seed in every process. A child
/// carries the requests out; whoever checks the store makes them again to know what must be there.
///
/// Each writer has a user of its own, so that its acknowledged requests alone decide what its zones hold.
struct WriterPlan: Sendable {
    enum Step: Sendable {
        case modify(saves: [Save], deletes: [RecordID])
        case saveZone(String)
        case deleteZone(String)
        case subscribe(String)
        case unsubscribe(String)
        case increment
        case erase(RecordID)
        case declareIndex(String)
        case resetKeys
        case rebuildViews
        case collectAssets
        case compact(keeping: Int)
        case sync
    }

    struct Save: Sendable {
        var id: RecordID
        var item: Item
    }

    /// What a record holds, as the numbers of the requests that its values follow from.
    struct Item: Hashable, Sendable {
        var number: Int
        var sealed: Int?
        var asset: Int?
        /// Name of the record of the same zone with which it is deleted.
        var link: String?
    }

    struct Zone: Sendable, Equatable {
        private(set) var items: [String: Item] = [:]
        /// In an order that is the same everywhere, which that of a dictionary is not.
        private(set) var names: [String] = []

        mutating func save(_ name: String, _ item: Item) {
            if items.updateValue(item, forKey: name) == nil { names.append(name) }
        }

        /// Deletes a record and those that go with it.
        mutating func delete(_ name: String) {
            guard items.removeValue(forKey: name) != nil else { return }
            for other in names where items[other]?.link == name { delete(other) }
            names.removeAll { items[$0] == nil }
        }
    }

    /// The record that every request for records saves: its number tells which one came last.
    static let mark = "mark"
    private static let maximumRecords = 120

    let content: WriterContent
    /// Whether this is the one that maintains the store, instead of writing what users write.
    let maintains: Bool
    /// The last request that was made.
    private(set) var number = 0
    private(set) var zones: [String: Zone] = [:]
    private(set) var subscriptions: Set<String> = []
    /// A text that no file may hold, and whose it was.
    struct Secret: Sendable {
        var text: String
        var origin: String
    }

    /// Texts of erased records, and of all encrypted values.
    private(set) var secrets: [Secret] = []
    private(set) var increments = 0
    private var generator: SeededGenerator

    init(seed: UInt64, writer: Int, maintains: Bool) {
        content = WriterContent(seed: seed, writer: writer)
        self.maintains = maintains
        generator = SeededGenerator(seed: seed ^ (UInt64(writer) << 48) ^ 0x5A)
    }

    var user: String { content.user }

    /// Makes the next request, and assumes that it is carried out.
    mutating func next() -> Step {
        number += 1
        switch number {
        case 1: return save(zone: "A")
        case 2: return save(zone: "B")
        default: return maintains ? nextMaintenance() : nextRequest()
        }
    }

    mutating func advance(to last: Int) {
        while number < last { _ = next() }
    }

    private mutating func nextRequest() -> Step {
        switch generator.next(below: 100) {
        case 0..<52: return saves(in: ["A", "B"])
        case 52..<66: return deletes()
        case 66..<74: return zones["V"] == nil ? save(zone: "V") : saves(in: ["V", "A"])
        case 74..<80: return zones["V"] == nil ? save(zone: "V") : delete(zone: "V")
        case 80..<84: return toggleSubscription()
        default:
            increments += 1
            return .increment
        }
    }

    private mutating func nextMaintenance() -> Step {
        switch generator.next(below: 100) {
        case 0..<30: return saves(in: ["A", "B"])
        case 30..<46: return erase()
        case 46..<56: return .compact(keeping: generator.next(below: 200))
        case 56..<62:
            // Before the first save there is no field to be indexed.
            guard zones["A"]?.items.isEmpty == false else { return .sync }
            return .declareIndex(["number", "text"][generator.next(below: 2)])
        case 62..<76: return zones["E"] == nil ? save(zone: "E") : saves(in: ["E"])
        case 76..<80:
            // It ends the zones that have encrypted values.
            if zones["E"]?.items.isEmpty == false { zones["E"] = nil }
            return .resetKeys
        case 80..<83: return .rebuildViews
        case 83..<93: return .collectAssets
        default: return .sync
        }
    }

    private mutating func save(zone: String) -> Step {
        if zones[zone] == nil { zones[zone] = Zone() }
        return .saveZone(zone)
    }

    private mutating func delete(zone: String) -> Step {
        zones[zone] = nil
        return .deleteZone(zone)
    }

    private mutating func toggleSubscription() -> Step {
        // Named after its zone: two of one zone would be the same one twice.
        let id = ["A", "B"][generator.next(below: 2)]
        if subscriptions.remove(id) != nil { return .unsubscribe(id) }
        subscriptions.insert(id)
        return .subscribe(id)
    }

    private mutating func saves(in choice: [String]) -> Step {
        var saves = [save(Self.mark, in: "A", Item(number: number))]
        for index in 0...generator.next(below: 4) {
            let zone = choice[generator.next(below: choice.count)]
            let known = zones[zone]?.names ?? []
            // A record that is saved again keeps what it had beside number and text.
            if !known.isEmpty, generator.next(below: 4) == 0 {
                let name = known[generator.next(below: known.count)]
                guard var item = zones[zone]?.items[name], item.number != number else { continue }
                item.number = number
                saves.append(save(name, in: zone, item))
            } else if known.count < Self.maximumRecords {
                saves.append(save("r\(number)-\(index)", in: zone, newItem(in: zone, known)))
            }
        }
        return .modify(saves: saves, deletes: [])
    }

    private mutating func newItem(in zone: String, _ known: [String]) -> Item {
        var item = Item(number: number)
        if zone == "E" || !maintains && generator.next(below: 6) == 0 {
            item.sealed = number
            secrets.append(Secret(text: content.sealed(number), origin: "encrypted by request \(number)"))
        }
        if generator.next(below: 16) == 0 { item.asset = number }
        // The mark stays, so nothing may depend on it being deleted.
        let targets = known.filter { $0 != Self.mark && zones[zone]?.items[$0]?.number != number }
        if !maintains, !targets.isEmpty, generator.next(below: 4) == 0 {
            item.link = targets[generator.next(below: targets.count)]
        }
        return item
    }

    private mutating func save(_ name: String, in zone: String, _ item: Item) -> Save {
        zones[zone, default: Zone()].save(name, item)
        return Save(id: RecordID(name, zone: ZoneID(zone)), item: item)
    }

    private mutating func deletes() -> Step {
        let zone = ["A", "B"][generator.next(below: 2)]
        var deletes: [RecordID] = []
        for _ in 0...generator.next(below: 6) {
            let known = (zones[zone]?.names ?? []).filter { $0 != Self.mark }
            guard !known.isEmpty else { break }
            let name = known[generator.next(below: known.count)]
            // What goes with another one of the request need not be named.
            guard zones[zone]?.items[name]?.link == nil else { continue }
            deletes.append(RecordID(name, zone: ZoneID(zone)))
            zones[zone]?.delete(name)
        }
        return .modify(saves: [save(Self.mark, in: "A", Item(number: number))], deletes: deletes)
    }

    private mutating func erase() -> Step {
        let zone = ["A", "B"][generator.next(below: 2)]
        let known = (zones[zone]?.names ?? []).filter { $0 != Self.mark }
        guard !known.isEmpty else { return .sync }
        let name = known[generator.next(below: known.count)]
        if let item = zones[zone]?.items[name] {
            let origin = "of \(name) of zone \(zone), saved by request \(item.number), erased by \(number)"
            secrets.append(Secret(text: content.text(item.number, of: name), origin: origin))
        }
        zones[zone]?.delete(name)
        return .erase(RecordID(name, zone: ZoneID(zone)))
    }
}
