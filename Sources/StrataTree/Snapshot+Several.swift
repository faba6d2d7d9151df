import StrataModel
import StrataSystem

extension Snapshot {
    /// How many keys are looked up together at most.
    public static let keysTogether = 24

    /// Calls `body` with the value of each key, nil for one that is not there, in their order, until it returns false.
    /// The bytes are valid only inside it.
    ///
    /// Keys lie anywhere, and most of the time of finding one goes by waiting for memory: so what comes next is asked
    /// for while others are looked at.
    ///
    /// - Parameter keys: at most ``keysTogether``.
    public func getEach(
        _ id: TreeID, _ keys: [[UInt8]], _ body: (_ index: Int, _ value: UnsafeRawBufferPointer?) throws -> Bool
    ) throws {
        precondition(keys.count <= Self.keysTogether, "keys that are looked up together")
        try core.memory.getEach(roots[id], keys, body)
    }
}

extension PageMemory {
    /// What is at the beginning of a leaf: its header and the heads of its keys.
    private static let leafStartBytes = 512
    private static let soonReadBytes = 384

    fileprivate func getEach(
        _ root: TreeRoot, _ keys: [[UInt8]], _ body: (Int, UnsafeRawBufferPointer?) throws -> Bool
    ) throws {
        guard root.page != 0 else {
            for index in keys.indices where !(try body(index, nil)) { return }
            return
        }
        let ticket = sections.enter()
        defer { sections.leave(ticket) }
        let leaves = try keys.map { (key) throws -> PageNumber in
            let number = try key.withUnsafeBytes { try leaf(root, of: $0) }
            if let place = place(of: number) { Prefetch.ask(place, byteCount: Self.leafStartBytes) }
            return number
        }
        let places = try zip(keys, leaves).map { (key, number) throws -> Int in
            let leaf = try page(number, level: 0)
            let (place, isFound) = key.withUnsafeBytes { leaf.search(leaf: $0) }
            guard isFound else { return -1 }
            if let start = leaf.storedValue(place).bytes.baseAddress {
                Prefetch.ask(start, byteCount: Self.soonReadBytes)
            }
            return place
        }
        for index in keys.indices {
            let goesOn = try found(leaves[index], places[index]) { try body(index, $0) }
            if !goesOn { return }
        }
    }

    private func leaf(_ root: TreeRoot, of key: UnsafeRawBufferPointer) throws -> PageNumber {
        var number = root.page
        for level in stride(from: root.level, to: 0, by: -1) {
            let page = try page(number, level: level)
            number = page.child(page.search(branch: key))
        }
        return number
    }

    private func found(
        _ number: PageNumber, _ place: Int, _ body: (UnsafeRawBufferPointer?) throws -> Bool
    ) throws -> Bool {
        if place < 0 { return try body(nil) }
        let value = try page(number, level: 0).storedValue(place)
        if value.isOverflow { return try withOverflow(OverflowReference(value.bytes)) { try body($0) } }
        return try body(value.bytes)
    }
}
