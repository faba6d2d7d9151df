import StrataModel
import StrataSystem

@testable import StrataTree

/// Walks everything that a page store says it has, and finds what does not add up.
struct TreeChecker {
    let memory: PageMemory
    /// Every page met so far, and what for.
    private(set) var reached: [PageNumber: String] = [:]
    private(set) var faults: [String] = []

    init(_ memory: PageMemory) { self.memory = memory }

    /// What is wrong with a store that nobody writes to; `snapshots` are all that are held, the newest among them.
    static func faults(of store: PageStore, holding snapshots: [Snapshot]) throws -> [String] {
        var checker = TreeChecker(store.core.memory)
        for snapshot in snapshots { try checker.check(snapshot.roots) }
        store.core.withLedger { ledger in
            checker.check(ledger)
            return ((), [])
        }
        return checker.faults
    }

    mutating func check(_ roots: TreeRoots) throws {
        let ticket = memory.sections.enter()
        defer { memory.sections.leave(ticket) }
        for id in roots.ids {
            let root = roots[id]
            guard root.page != 0 else {
                if root.entryCount != 0 { faults.append("an empty tree counts \(root.entryCount)") }
                continue
            }
            let count = try check(root.page, level: root.level, from: [], to: nil, isRoot: true)
            if count != root.entryCount { faults.append("tree \(id.rawValue) counts \(root.entryCount), has \(count)") }
        }
    }

    /// - Returns: how many entries are below.
    private mutating func check(
        _ number: PageNumber, level: Int, from lower: [UInt8], to upper: [UInt8]?, isRoot: Bool
    ) throws -> UInt64 {
        reach(number, "page of level \(level)")
        let page = try memory.page(number, level: level)
        do { try PageCheck.checkLayout(page, number: number) } catch { faults.append("\(error)") }
        var count: UInt64 = 0
        let keys = (0..<page.count).map { key($0, of: page) }
        for index in keys.indices {
            let isFirstChild = !page.isLeaf && index == 0
            if !isFirstChild, keys[index].lexicographicallyPrecedes(lower) {
                faults.append("page \(number) has a key in front of its range")
            }
            if let upper, !isFirstChild, !keys[index].lexicographicallyPrecedes(upper) {
                faults.append("page \(number) has a key behind its range")
            }
        }
        for index in keys.indices {
            if page.isLeaf {
                count += 1
                let value = page.storedValue(index)
                if value.isOverflow { try reach(OverflowReference(value.bytes)) }
            } else {
                count += try check(
                    page.child(index), level: level - 1, from: index == 0 ? lower : keys[index],
                    to: index + 1 < keys.count ? keys[index + 1] : upper, isRoot: false)
            }
        }
        return count
    }

    private func key(_ index: Int, of page: Page) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 2 * PageLayout.maximumKeyBytes) { buffer, count in
            count = page.copyKey(index, to: UnsafeMutableRawBufferPointer(buffer)).count
        }
    }

    private mutating func reach(_ reference: OverflowReference) throws {
        for index in 0..<reference.pageCount {
            let number = reference.first + PageNumber(index)
            reach(number, "overflow")
            if try memory.page(number).kind != .overflow { faults.append("page \(number) is no overflow page") }
        }
    }

    private mutating func reach(_ number: PageNumber, _ what: String) {
        if let known = reached[number], known != what {
            faults.append("page \(number) is a \(known) and a \(what)")
        }
        reached[number] = what
    }

    /// Every page is reached, free, lent or waiting: none of them twice, none lost.
    private mutating func check(_ ledger: PageLedger) {
        var others: [PageNumber: String] = [:]
        let unreachable = ledger.unreachable
        for run in unreachable.free {
            for number in run.range {
                if let known = reached[number] { faults.append("page \(number) is free and a \(known)") }
                if others[number] != nil { faults.append("page \(number) is free twice") }
                others[number] = "free"
            }
        }
        for run in unreachable.waiting {
            for number in run.range {
                if let known = others[number] { faults.append("page \(number) waits and is \(known)") }
                others[number] = "waiting"
            }
        }
        for number in 2..<PageNumber(ledger.pageCount) where reached[number] == nil && others[number] == nil {
            faults.append("page \(number) is lost")
        }
        for number in reached.keys where Int(number) >= ledger.pageCount {
            faults.append("page \(number) lies behind the end")
        }
    }
}
