/// A source of trees that can be read: a snapshot or a fork.
package protocol TreeReading {
    func get<Result>(
        _ id: TreeID, _ key: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) throws -> Result?

    func scan(
        _ id: TreeID, from lower: UnsafeRawBufferPointer?, to upper: UnsafeRawBufferPointer?,
        _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws -> Bool
    ) throws

    func cursor(_ id: TreeID) -> Cursor
}

extension Snapshot: TreeReading {}
extension Fork: TreeReading {}
