import CloudKit

/// For tests whose compilation is most of what they test: that a property is there, of this very type, to be read.
func gives<Root, Value>(_ root: Root, _ path: KeyPath<Root, Value>, _: Value.Type) { _ = root[keyPath: path] }

/// As `gives`, and to be written.
func keeps<Root: AnyObject, Value>(_ root: Root, _ path: ReferenceWritableKeyPath<Root, Value>, _: Value.Type) {
    root[keyPath: path] = root[keyPath: path]
}

/// Apple's names for what the handlers of the database's methods get.
typealias Handler<Value> = @Sendable (Value?, Error?) -> Void
typealias ResultHandler<Value> = @Sendable (Result<Value, Error>) -> Void
typealias Results<ID: Hashable, Value> = [ID: Result<Value, Error>]
