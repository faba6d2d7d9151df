public let below2 = 2
