/// A property of an ``ObservableObject`` that announces its changes. `$name` publishes its values.
@propertyWrapper
public struct Published<Value> {
    private let box: Box

    public init(wrappedValue: Value) { box = Box(wrappedValue) }

    public init(initialValue: Value) { self.init(wrappedValue: initialValue) }

    @available(*, unavailable, message: "@Published is for properties of classes")
    public var wrappedValue: Value {
        get { box.value }
        nonmutating set { box.value = newValue }
    }

    /// Publishes the value that the property has, and each later one before the property has it.
    public var projectedValue: Publisher { Publisher(box: box) }

    /// Reads and changes the property of an object.
    public static subscript<Owner: AnyObject>(
        _enclosingInstance owner: Owner, wrapped _: ReferenceWritableKeyPath<Owner, Value>,
        storage storage: ReferenceWritableKeyPath<Owner, Published<Value>>
    ) -> Value {
        get { owner[keyPath: storage].box.value }
        set {
            (owner as? any ObservableObject)?.objectWillChange.send()
            let box = owner[keyPath: storage].box
            box.subscribers.send(newValue)
            box.value = newValue
        }
    }

    /// A reference, since publishers outlive the moment at which they are made.
    fileprivate final class Box {
        var value: Value
        let subscribers = Subscribers<Value>()

        init(_ value: Value) { self.value = value }
    }

    /// The values of a property.
    public struct Publisher {
        fileprivate let box: Box

        /// Calls a closure with the present value and each later one, until the result is canceled or released.
        public func sink(receiveValue: @escaping (Value) -> Void) -> AnyCancellable {
            receiveValue(box.value)
            return box.subscribers.add(receiveValue)
        }
    }
}

extension Published.Publisher where Value: Sendable {
    /// The present value and each later one.
    public var values: AsyncStream<Value> {
        AsyncStream { continuation in
            let observation = sink { continuation.yield($0) }
            continuation.onTermination = { _ in observation.cancel() }
        }
    }
}
