-- Three orders: one is fine, one has too little stock, one too little credit.

USE OrderDesk;
GO
EXEC dbo.TakeOrder @orderId = 1, @customer = N'Ada', @product = N'chair', @quantity = 4, @amount = 200;
EXEC dbo.TakeOrder 2, N'Ada', N'table', 2, 100;
EXEC dbo.TakeOrder 3, N'Grace', N'chair', @quantity = 1, @amount = 60;
GO
-- Nine dialogs, three groups.
SELECT COUNT(*) AS dialogs, COUNT(DISTINCT conversation_group_id) AS groups
FROM sys.conversation_endpoints WHERE is_initiator = 1;
GO
EXEC dbo.AnswerRequests 'StockQueue';
EXEC dbo.AnswerRequests 'BillingQueue';
EXEC dbo.AnswerRequests 'CarrierQueue';
EXEC dbo.CollectAnswers;
GO
SELECT OrderId, Customer, Agreed, Asked,
       CASE WHEN Refused IS NOT NULL THEN 'refused, ' + Refused
            WHEN Agreed = Asked THEN 'accepted'
            ELSE 'open' END AS outcome
FROM dbo.Orders ORDER BY OrderId;
SELECT Product, Quantity FROM dbo.Stock ORDER BY Product;
SELECT Customer, Amount FROM dbo.Credit ORDER BY Customer;
SELECT COUNT(*) AS open_dialogs FROM sys.conversation_endpoints WHERE is_initiator = 1;
GO
